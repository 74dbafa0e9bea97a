% synonyms
:- dynamic synonym/2.
synonym(colour, color).
synonym(centre, center).
