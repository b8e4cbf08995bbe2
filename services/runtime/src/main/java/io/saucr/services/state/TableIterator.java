package io.saucr.services.state;

import java.util.Iterator;
import java.util.function.Function;

/** Goes through the entries of a version; of use in the turn in which it began. Turn thread. */
final class TableIterator<T> implements Iterator<T> {

    private final StateStore store;
    private final Table table;
    private final long turn;
    private final Iterator<Trie.Entry> entries;
    private final Function<Trie.Entry, T> seen;

    TableIterator(
            StateStore store,
            Table table,
            Iterator<Trie.Entry> entries,
            Function<Trie.Entry, T> seen) {
        this.store = store;
        this.table = table;
        this.turn = store.throwUnlessUsable(table);
        this.entries = entries;
        this.seen = seen;
    }

    @Override
    public boolean hasNext() {
        store.throwUnlessTurn(table, turn);
        return entries.hasNext();
    }

    @Override
    public T next() {
        store.throwUnlessTurn(table, turn);
        Trie.Entry entry = entries.next();
        store.handOut(table, entry);
        return seen.apply(entry);
    }
}
