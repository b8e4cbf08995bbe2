/** Exactly-once operations on an ensemble: the decisions of the once client (E1 to E9). */
package io.saucr.services.core.once;
