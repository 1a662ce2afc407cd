# Debugs one child of Winnow, and gets a core file of it:
#   CHILD=_run NTH=1 gdb -q -x scripts/child.gdb --args build/dev/winnow eval TASK FILE --device cpu
# Follows the NTH child that is started as CHILD (_run, _judge, _compile, ...) through its fence, until it ends or
# a signal stops it. Then `bt` shows where, and `generate-core-file` writes what the fence keeps the kernel from
# writing. A worker handles SIGSEGV, because that is how it sees a candidate's access out of bounds: gdb stops there,
# too, and `continue` goes on. CONTRIBUTING.md has more.
set pagination off
set confirm off
set print thread-events off
handle SIGTERM SIGCHLD nostop noprint pass
python
import os
import gdb


class Spawn(gdb.Breakpoint):
    """Stops the coordinator where it starts the child. Reads process::Command without debug information."""

    def __init__(self):
        super().__init__("winnow::process::spawn")
        self.left = int(os.environ.get("NTH", "1"))

    def stop(self):
        command = int(gdb.parse_and_eval("(unsigned long)$rsi"))  # $rdi is where the result goes
        pointer = gdb.lookup_type("unsigned long").pointer()
        begin, end = (int((gdb.Value(command).cast(pointer) + at).dereference()) for at in (0, 1))
        words = [gdb.Value(int(gdb.Value(text).cast(pointer).dereference())).cast(
            gdb.lookup_type("char").pointer()).string() for text in range(begin, end, 32)]
        self.left -= os.environ.get("CHILD", "_run") in words
        return self.left == 0


spawn = Spawn()
gdb.execute("run")
if spawn.left == 0:
    spawn.enabled = False
    gdb.execute("set follow-fork-mode child")
    gdb.execute("continue")
end
