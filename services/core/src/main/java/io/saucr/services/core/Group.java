package io.saucr.services.core;

/** The group of which a service is a member, as the core asks of it. Turn thread. */
public interface Group {

    /** Of a service that is no member of any. */
    Group NONE =
            new Group() {
                @Override
                public boolean isMember(String service) {
                    return false;
                }

                @Override
                public Frame tagged(long turn, Frame.Msg message) {
                    throw new IllegalStateException("nobody is a member");
                }
            };

    /**
     * Whether a service is another member: it hears messages that can still be undone ({@link
     * Finals#group}), and undoes with this one. A service that joins becomes a member while others
     * run; none stops being one.
     */
    boolean isMember(String service);

    /** A message of a turn, with the version of that (D2). */
    Frame tagged(long turn, Frame.Msg message);
}
