"""What every floor stands on; it uses nothing of Clew but its errors.

`arrays` names NumPy arrays by what they hold, has the lock under which files are loaded, and cuts spans.
`forms` is what JSON can hold of a value, reads JSON of users, and shows answers as HTML and as data frames.
`system` is what Clew asks of the machine: optional packages, whole files, locks, memory, processors; and it
bounds how long one question may take, also while machine code is made, and how many answers it lists.
`redaction` keeps keys and passwords out of what is written.
`bounded_http` bounds what a server sends to the HTTP clients of SDKs.
"""
