"""`auto`: the built-in readers, and with a chat model one short call where they are not sure."""
