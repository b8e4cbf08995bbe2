/** Who holds a service: one znode, changed by conditional writes alone (K14). */
package io.saucr.services.core.head;
