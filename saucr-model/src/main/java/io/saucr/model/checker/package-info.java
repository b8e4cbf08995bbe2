/**
 * The model checker: everything that can happen in a small cluster, and what breaks when a rule
 * does.
 */
package io.saucr.model.checker;
