/**
 * The once client and two that are used today, as processes that are killed, behind lines that cut,
 * hold and expire, judged by the tree that they leave and by what they told (rules E1 to E10).
 */
package io.saucr.services.tests.once;
