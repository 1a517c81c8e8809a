"""Films of three directors, small enough to know by heart."""

SMALL = """\
Alien|directed by|Ridley Scott
Alien 3|directed by|David Fincher
Alien|starring|Sigourney Weaver
Alien 3|starring|Sigourney Weaver
Alien|genre|Horror
Alien 3|genre|Drama
Blade Runner|directed by|Ridley Scott
Blade Runner|starring|Harrison Ford
Blade Runner|genre|Drama
Seven|directed by|David Fincher
"""
