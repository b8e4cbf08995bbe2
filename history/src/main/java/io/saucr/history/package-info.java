/** What concurrent clients did and saw, in Jepsen's format, and whether it is linearizable. */
package io.saucr.history;
