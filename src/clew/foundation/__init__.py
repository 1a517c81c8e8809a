"""What every floor stands on; it uses nothing of Clew but its errors.

`arrays` names NumPy arrays by what they hold, has the lock under which files are loaded, and cuts spans.
`bounds` says how long one question may take, and how many answers it lists.
`compiling` says where machine code is kept, and how long it took to make some.
`json_form` is what JSON can hold of a value, and reads JSON of users.
`html_form` is answers, verdicts and indexes as HTML and as data frames.
`whole_file` puts a file in place at once.
`redaction` keeps keys and passwords out of what is written.
`bounded_http` bounds what a server sends to the HTTP clients of SDKs.
"""
