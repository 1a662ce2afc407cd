// Empty: files include it for host code, which is not compiled here.
#pragma once
