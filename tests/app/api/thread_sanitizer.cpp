// SPDX-License-Identifier: MIT
//
// cpp-httplib comes as a library that was built without ThreadSanitizer: the guards of its
// function-local statics are invisible, so that reading one looks like a race with the thread that
// made it. Interceptors called from that library are therefore left out. Our own handlers, which
// it calls, are watched like everything else.
#ifdef __SANITIZE_THREAD__

extern "C" const char *__tsan_default_suppressions()
{
    return "called_from_lib:libcpp-httplib.so\n";
}

#endif
