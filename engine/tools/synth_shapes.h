// SPDX-License-Identifier: MIT
//
// The two models that this program knows by name, as shapes (docs/model.md says where each number
// comes from).
#pragma once

#include "engine/checkpoint/model_shape.h"

#include <optional>
#include <string_view>

namespace firesteel::engine {

ModelShape glmFlashShape(); // GLM-5.3-Flash
ModelShape glimmerShape();

// "glm-5.3-flash" or "glimmer"; nothing for another name.
std::optional<ModelShape> namedShape(std::string_view name);

// Fewer layers have none with MLA, and no such model is loaded.
inline constexpr int kLeastLayers = 4;

// Its first layers, without the MTP layers. `layers`: kLeastLayers to shape.layerCount.
ModelShape firstLayers(ModelShape shape, int layers);

} // namespace firesteel::engine
