/**
 * Connections between the members of a group of services and the one that coordinates it: what is
 * on disk, what is final, and what was decided travel here.
 */
package io.saucr.services.group;
