from devstack.commands import main

main(prog_name="python -m devstack")
