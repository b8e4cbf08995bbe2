/**
 * The model checker: everything that can happen in a small world, and what breaks when a rule does.
 */
package io.saucr.model.checker;
