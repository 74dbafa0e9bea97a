import sys

from devstack.commands import main

sys.exit(main(sys.argv[1:]))
