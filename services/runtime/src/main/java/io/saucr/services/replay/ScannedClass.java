package io.saucr.services.replay;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** What of a class file {@link CodeScan} asks for. One thread. */
final class ScannedClass extends ClassVisitor {

    /** What an instruction does. */
    enum Kind {
        CALLS,
        MAKES,
        READS_STATIC,
        WRITES_STATIC,
        MONITOR
    }

    /** An instruction that matters. */
    record Step(Kind kind, String owner, String name, String descriptor, int line) {}

    /** A method. */
    record Code(String name, String descriptor, boolean isSynchronized, List<Step> steps) {

        int firstLine() {
            return steps.isEmpty() ? 0 : steps.get(0).line();
        }
    }

    /** A field. */
    record Field(String name, String descriptor, boolean isStatic, boolean isFinal) {

        /** Why handlers in several lanes can not share it. */
        Optional<String> problem() {
            if (!isFinal) {
                return Optional.of("not final");
            }
            if (descriptor.startsWith("[")) {
                return Optional.of("an array");
            }
            String type = descriptor.replaceAll("^L|;$", "");
            return MUTABLE.contains(type) || type.startsWith("java/util/concurrent/atomic/")
                    ? Optional.of("of type " + type.substring(type.lastIndexOf('/') + 1))
                    : Optional.empty();
        }
    }

    private static final Set<String> MUTABLE =
            Set.of(
                    "java/util/ArrayDeque",
                    "java/util/ArrayList",
                    "java/util/BitSet",
                    "java/util/EnumMap",
                    "java/util/HashMap",
                    "java/util/HashSet",
                    "java/util/IdentityHashMap",
                    "java/util/LinkedHashMap",
                    "java/util/LinkedHashSet",
                    "java/util/LinkedList",
                    "java/util/PriorityQueue",
                    "java/util/Random",
                    "java/util/TreeMap",
                    "java/util/TreeSet",
                    "java/util/WeakHashMap",
                    "java/util/concurrent/ConcurrentHashMap",
                    "java/util/concurrent/ConcurrentLinkedDeque",
                    "java/util/concurrent/ConcurrentLinkedQueue",
                    "java/util/concurrent/ConcurrentMap",
                    "java/util/concurrent/ConcurrentSkipListMap",
                    "java/util/concurrent/CopyOnWriteArrayList",
                    "java/lang/StringBuilder",
                    "java/lang/StringBuffer");

    private static final String HANDLERS = "io/saucr/services/replay/LaneHandlers";

    private final List<Field> fields = new ArrayList<>();
    private final List<Code> methods = new ArrayList<>();
    private String name;
    private String superName;
    private List<String> interfaces = List.of();
    private boolean isEnum;

    ScannedClass() {
        super(Opcodes.ASM9);
    }

    String name() {
        return name;
    }

    /** The class above, or null. */
    String superName() {
        return superName;
    }

    List<String> interfaces() {
        return interfaces;
    }

    List<Field> fields() {
        return fields;
    }

    List<Code> methods() {
        return methods;
    }

    Optional<Code> method(String of, String descriptor) {
        return methods.stream()
                .filter(it -> it.name().equals(of) && it.descriptor().equals(descriptor))
                .findFirst();
    }

    Optional<Field> field(String of) {
        return fields.stream().filter(it -> it.name().equals(of)).findFirst();
    }

    @Override
    public void visit(
            int version, int access, String of, String signature, String above, String[] also) {
        name = of;
        superName = above;
        interfaces = also == null ? List.of() : List.of(also);
        isEnum = (access & Opcodes.ACC_ENUM) != 0;
    }

    @Override
    public FieldVisitor visitField(
            int access, String of, String descriptor, String signature, Object value) {
        boolean synthetic = (access & Opcodes.ACC_SYNTHETIC) != 0;
        // The values of an enum, and tables of a switch, are made by the compiler.
        if (!synthetic && !(isEnum && of.equals("$VALUES"))) {
            fields.add(
                    new Field(
                            of,
                            descriptor,
                            (access & Opcodes.ACC_STATIC) != 0,
                            (access & Opcodes.ACC_FINAL) != 0));
        }
        return null;
    }

    @Override
    public MethodVisitor visitMethod(
            int access, String of, String descriptor, String signature, String[] exceptions) {
        List<Step> steps = new ArrayList<>();
        methods.add(new Code(of, descriptor, (access & Opcodes.ACC_SYNCHRONIZED) != 0, steps));
        return new Steps(steps);
    }

    /** Notes the steps of a method. */
    private static final class Steps extends MethodVisitor {

        private final List<Step> steps;
        private int line;

        /** Steps that came with the lambda of the instruction before; empty behind others. */
        private List<Step> lambda = List.of();

        Steps(List<Step> steps) {
            super(Opcodes.ASM9);
            this.steps = steps;
        }

        private void add(Kind kind, String owner, String of, String descriptor) {
            steps.add(new Step(kind, owner, of, descriptor, line));
            lambda = List.of();
        }

        @Override
        public void visitLineNumber(int number, Label start) {
            line = number;
        }

        @Override
        public void visitInsn(int opcode) {
            if (opcode == Opcodes.MONITORENTER) {
                add(Kind.MONITOR, "", "", "");
            }
        }

        @Override
        public void visitTypeInsn(int opcode, String type) {
            if (opcode == Opcodes.NEW) {
                add(Kind.MAKES, type, "", "");
            }
        }

        @Override
        public void visitFieldInsn(int opcode, String owner, String of, String descriptor) {
            if (opcode == Opcodes.GETSTATIC) {
                add(Kind.READS_STATIC, owner, of, descriptor);
            } else if (opcode == Opcodes.PUTSTATIC) {
                add(Kind.WRITES_STATIC, owner, of, descriptor);
            }
        }

        @Override
        public void visitMethodInsn(
                int opcode, String owner, String of, String descriptor, boolean ofInterface) {
            if (owner.equals(HANDLERS) && of.equals("query")) {
                // A query reads on a thread of its own, and is not replayed.
                steps.subList(steps.size() - lambda.size(), steps.size()).clear();
            }
            add(Kind.CALLS, owner, of, descriptor);
        }

        @Override
        public void visitInvokeDynamicInsn(
                String of, String descriptor, Handle bootstrap, Object... arguments) {
            List<Step> made = new ArrayList<>();
            for (Object argument : arguments) {
                if (argument instanceof Handle handle) {
                    boolean makes = handle.getTag() == Opcodes.H_NEWINVOKESPECIAL;
                    if (makes) {
                        made.add(new Step(Kind.MAKES, handle.getOwner(), "", "", line));
                    }
                    made.add(
                            new Step(
                                    Kind.CALLS,
                                    handle.getOwner(),
                                    handle.getName(),
                                    handle.getDesc(),
                                    line));
                }
            }
            steps.addAll(made);
            lambda = made;
        }
    }
}
