/** How soon servers react to the failures of others: figure 11 of the paper. */
package io.saucr.crash.reaction;
