MAX_ERROR_CHARACTERS = 2000


def error_text(error):
    """"Type: text" of an exception."""
    text = f"{type(error).__name__}: {error}".encode("utf-8", "replace").decode()
    return text[:MAX_ERROR_CHARACTERS]
