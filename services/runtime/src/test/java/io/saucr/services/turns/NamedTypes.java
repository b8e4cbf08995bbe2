package io.saucr.services.turns;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/** Types of messages without a codec: bytes are a number under which the message is remembered. */
final class NamedTypes implements MessageTypes {

    private final Map<String, Object> remembered = new HashMap<>();

    @Override
    public String name(Class<?> type) {
        return type.getSimpleName();
    }

    @Override
    public void check(Class<?> type) {
        if (!type.isRecord()) {
            throw new IllegalArgumentException(type.getName() + " is not a record");
        }
    }

    @Override
    public byte[] encode(Object message) {
        check(message.getClass());
        String key = message.toString();
        remembered.put(key, message);
        return key.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public <T> T decode(Class<T> type, byte[] bytes) {
        return type.cast(remembered.get(new String(bytes, StandardCharsets.UTF_8)));
    }
}
