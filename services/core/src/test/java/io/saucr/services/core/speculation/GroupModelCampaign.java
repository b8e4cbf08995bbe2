package io.saucr.services.core.speculation;

/** Every way through a group of any size. */
final class GroupModelCampaign {

    private GroupModelCampaign() {}

    /**
     * Explores; ends the process, with 0 where there is no violation.
     *
     * @param arguments how many states at most; what {@link GroupSize} has, as one text; the rule
     *     that is broken, {@code NOTHING} where it is not given; steps that come first, none where
     *     they are not given
     */
    public static void main(String[] arguments) {
        Broken broken = arguments.length > 2 ? Broken.valueOf(arguments[2]) : Broken.NOTHING;
        long begun = System.nanoTime();
        GroupExplorer.Found found =
                new GroupExplorer(Integer.parseInt(arguments[0]))
                        .explore(
                                new Group(GroupSize.parse(arguments[1]), broken)
                                        .after(arguments.length > 3 ? arguments[3] : ""));
        System.out.printf(
                "%,d states, %,d at rest, in %d s: %s%n%s%n",
                found.states(),
                found.atRest(),
                (System.nanoTime() - begun) / 1_000_000_000,
                found.violation() == null ? "no violation" : found.violation(),
                String.join("\n", found.path()));
        System.exit(found.violation() == null ? 0 : 1);
    }
}
