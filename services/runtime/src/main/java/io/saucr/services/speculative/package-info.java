/**
 * Services whose messages to each other leave before they are synced, as members of a group: what
 * depends on a loss is undone (D1 to D16). Not reachable by the API yet.
 */
package io.saucr.services.speculative;
