# Runs a program under gdb with all of its children, and stops at the first child that a signal ends:
#   gdb -q -x scripts/child.gdb --args build/dev/winnow eval TASK FILE --device cpu
# Prints the stack, writes a core file (child.core, or $CORE) and leaves gdb open there. A candidate's access out
# of bounds is a SIGSEGV that its worker handles, so set SEGV=1 to stop at those, too. Close with `kill inferiors`.
set pagination off
set confirm off
set detach-on-fork off
set schedule-multiple on
set print thread-events off
set print inferior-events off
python
import os
import gdb

DEADLY = {"SIGABRT", "SIGILL", "SIGBUS", "SIGFPE", "SIGSYS", "SIGXCPU", "SIGXFSZ", "SIGTRAP"}
if os.environ.get("SEGV"):
    DEADLY.add("SIGSEGV")
else:
    gdb.execute("handle SIGSEGV nostop noprint pass")
gdb.execute("handle SIGTERM nostop noprint pass")
stopped_by = None


def on_stop(event):
    global stopped_by
    if isinstance(event, gdb.SignalEvent) and event.stop_signal in DEADLY:
        stopped_by = event.stop_signal


gdb.events.stop.connect(on_stop)
gdb.execute("run")
while stopped_by is None:
    living = [inferior.num for inferior in gdb.inferiors() if inferior.pid]
    if not living:
        print("No child was ended by a signal.")
        break
    gdb.execute("inferior %d" % living[0], to_string=True)
    gdb.execute("continue")
else:
    print("%s in process %d" % (stopped_by, gdb.selected_inferior().pid))
    gdb.execute("bt")
    gdb.execute("generate-core-file " + os.environ.get("CORE", "child.core"))
end
