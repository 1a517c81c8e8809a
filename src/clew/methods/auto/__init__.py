"""`auto`: the built-in readers, and with a chat model a short call or two where they are not sure."""
