package io.saucr.services.members;

/** Says how a member fares, each time that a heartbeat is due. */
@FunctionalInterface
public interface HeartbeatSource {

    /** On a thread of the transport: it must neither wait nor throw. */
    MemberFrame.Heartbeat heartbeat();
}
