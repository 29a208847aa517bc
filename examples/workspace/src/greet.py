def greet(name):
    # TODO: greet in the reader's language
    return f"Hello, {name}!"
