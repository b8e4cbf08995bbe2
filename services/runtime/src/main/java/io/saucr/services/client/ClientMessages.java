package io.saucr.services.client;

import io.saucr.services.ServiceException;
import io.saucr.services.core.Body;
import io.saucr.services.state.Codec;
import io.saucr.services.turns.MessageTypes;
import io.saucr.services.turns.RecordMessages;
import java.util.Optional;

/** Messages of a client, which knows types only as it calls with them. Any thread. */
public final class ClientMessages {

    private final MessageTypes types = new RecordMessages(new Codec());

    /**
     * A message as it travels.
     *
     * @throws IllegalArgumentException where its type may not be sent, or it is too large; the
     *     message says why
     */
    public Body encode(Object message, int largestBytes) {
        Body body = new Body(types.name(message.getClass()), types.encode(message));
        if (body.bytes().length > largestBytes) {
            throw new IllegalArgumentException(
                    "a message of type "
                            + body.type()
                            + " has "
                            + body.bytes().length
                            + " bytes, and at most "
                            + largestBytes
                            + " are allowed: send it in parts, or a name under which it is found");
        }
        return body;
    }

    /**
     * An answer of a type that is expected.
     *
     * @param service for messages
     * @throws ServiceException where it is of another type or cannot be read
     */
    public <A> A decode(String service, Body answer, Class<A> type) {
        Optional<Class<? extends A>> kind = types.kind(type, answer.type());
        if (kind.isEmpty()) {
            throw new ServiceException(
                    service
                            + " answered with "
                            + answer.type()
                            + " "
                            + Codec.shownBytes(answer.bytes())
                            + ", and "
                            + types.name(type)
                            + " was expected: ask for the type that its handler replies by; one"
                            + " record can carry both outcomes");
        }
        try {
            return types.decode(kind.get(), answer.bytes());
        } catch (IllegalArgumentException e) {
            throw new ServiceException(
                    service
                            + " answered with "
                            + answer.type()
                            + ", which cannot be read: "
                            + e.getMessage(),
                    e);
        }
    }

    /**
     * Refuses a type of answers that no service can give.
     *
     * @throws IllegalArgumentException where it is not one; the message says why
     */
    public void check(Class<?> answer) {
        types.checkAnswer(answer);
    }
}
