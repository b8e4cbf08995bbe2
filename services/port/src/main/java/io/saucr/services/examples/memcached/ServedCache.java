package io.saucr.services.examples.memcached;

import com.thimbleware.jmemcached.AbstractCache;
import com.thimbleware.jmemcached.Key;
import com.thimbleware.jmemcached.LocalCacheElement;
import io.saucr.services.Bytes;
import io.saucr.services.Client;
import io.saucr.services.examples.memcached.CacheService.Ask;
import io.saucr.services.examples.memcached.CacheService.Change;
import io.saucr.services.examples.memcached.CacheService.Delete;
import io.saucr.services.examples.memcached.CacheService.Done;
import io.saucr.services.examples.memcached.CacheService.Flush;
import io.saucr.services.examples.memcached.CacheService.Found;
import io.saucr.services.examples.memcached.CacheService.Get;
import io.saucr.services.examples.memcached.CacheService.Held;
import io.saucr.services.examples.memcached.CacheService.How;
import io.saucr.services.examples.memcached.CacheService.Item;
import io.saucr.services.examples.memcached.CacheService.Outcome;
import io.saucr.services.examples.memcached.CacheService.Store;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jboss.netty.buffer.ChannelBuffer;
import org.jboss.netty.buffer.ChannelBuffers;

/**
 * The cache behind jmemcached's network classes, whose items are in a {@link CacheService}. A
 * command waits for its answer as long as the service is away. Any thread.
 */
final class ServedCache extends AbstractCache<LocalCacheElement> {

    private final Client service;

    ServedCache(Client service) {
        this.service = service;
    }

    private Done done(Object command) {
        return service.ask(command, Done.class).join();
    }

    private StoreResponse store(How how, LocalCacheElement element, long cas) {
        Item item =
                new Item(element.getFlags(), element.getExpire(), bytes(element.getData()), 0, 0);
        Outcome outcome = done(new Store(how, bytes(element.getKey().bytes), item, cas)).outcome();
        if (outcome == Outcome.NOT_FOUND) {
            getMisses.incrementAndGet();
        }
        return StoreResponse.valueOf(outcome.name());
    }

    private static Bytes bytes(ChannelBuffer buffer) {
        return Bytes.of(buffer.toByteBuffer(0, buffer.capacity()));
    }

    @Override
    public DeleteResponse delete(Key key, int time) {
        return DeleteResponse.valueOf(done(new Delete(bytes(key.bytes), time)).outcome().name());
    }

    @Override
    public StoreResponse add(LocalCacheElement element) {
        return store(How.ADD, element, 0);
    }

    @Override
    public StoreResponse replace(LocalCacheElement element) {
        return store(How.REPLACE, element, 0);
    }

    @Override
    public StoreResponse append(LocalCacheElement element) {
        return store(How.APPEND, element, 0);
    }

    @Override
    public StoreResponse prepend(LocalCacheElement element) {
        return store(How.PREPEND, element, 0);
    }

    @Override
    public StoreResponse set(LocalCacheElement element) {
        setCmds.incrementAndGet();
        return store(How.SET, element, 0);
    }

    @Override
    public StoreResponse cas(Long cas, LocalCacheElement element) {
        return store(How.CAS, element, cas);
    }

    @Override
    public Integer get_add(Key key, int mod) {
        Done done = done(new Change(bytes(key.bytes), mod));
        switch (done.outcome()) {
            case STORED:
                return done.value();
            case NO_NUMBER:
                throw new NumberFormatException("the item is not a number");
            default:
                getMisses.incrementAndGet();
                return null;
        }
    }

    @Override
    public LocalCacheElement[] get(Key... keys) {
        getCmds.incrementAndGet();
        List<CompletableFuture<Found>> found = new ArrayList<>();
        for (Key key : keys) {
            found.add(service.ask(new Get(bytes(key.bytes)), Found.class));
        }
        LocalCacheElement[] elements = new LocalCacheElement[keys.length];
        for (int i = 0; i < keys.length; i++) {
            Key key = keys[i];
            elements[i] = found.get(i).join().item().map(it -> element(key, it)).orElse(null);
            (elements[i] == null ? getMisses : getHits).incrementAndGet();
        }
        return elements;
    }

    private static LocalCacheElement element(Key key, Item item) {
        LocalCacheElement element =
                new LocalCacheElement(key, item.flags(), item.expire(), item.cas());
        element.setData(ChannelBuffers.wrappedBuffer(item.data().toArray()));
        return element;
    }

    @Override
    public boolean flush_all() {
        return flush_all(0);
    }

    /** At once, as the original does whatever it is told. */
    @Override
    public boolean flush_all(int expire) {
        return done(new Flush()).outcome() == Outcome.DELETED;
    }

    @Override
    public void close() {
        service.close();
    }

    private Held held() {
        return service.ask(new Ask(), Held.class).join();
    }

    @Override
    public long getCurrentItems() {
        return held().items();
    }

    @Override
    public long getLimitMaxBytes() {
        return held().mostBytes();
    }

    @Override
    public long getCurrentBytes() {
        return held().bytes();
    }

    /** Only the original's own cache calls it. */
    @Override
    protected Set<Key> keys() {
        throw new UnsupportedOperationException("the keys are in the service");
    }

    /** Nothing is pending here: timers are the service's. */
    @Override
    public void asyncEventPing() {}
}
