package io.saucr.services.replay;

/**
 * A service whose handlers run in lanes, and see each other's work. Its constructor declares locks
 * and maps of {@link LaneState}, and keeps them in final fields; {@link
 * io.saucr.services.Protection#replay} runs it.
 */
public interface LaneService {

    /**
     * Says which handler takes which message; called once in each life of a member, before the
     * first request.
     *
     * @param on takes the handlers; of no use after this returns
     */
    void handlers(LaneHandlers on);
}
