package io.saucr.services.turns;

import io.saucr.services.state.Codec;

/**
 * Messages are records, in the bytes that values of the state have. Any thread.
 *
 * @param codec shared with the state, so that each type is looked at once
 */
public record RecordMessages(Codec codec) implements MessageTypes {

    @Override
    public String name(Class<?> type) {
        return codec.name(type);
    }

    @Override
    public void check(Class<?> type) {
        if (!type.isRecord()) {
            throw new IllegalArgumentException(
                    type.getName() + " is not a record: messages are records of immutable parts");
        }
        codec.check(type);
    }

    @Override
    public byte[] encode(Object message) {
        check(message.getClass());
        return codec.encode(message);
    }

    @Override
    public <T> T decode(Class<T> type, byte[] bytes) {
        return codec.decode(type, bytes);
    }
}
