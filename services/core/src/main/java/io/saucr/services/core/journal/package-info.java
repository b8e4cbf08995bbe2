/**
 * What a journal's bytes say after a crash (K9, K10): which records are valid, where to cut, what
 * to write again, when to refuse. Works on bytes that somebody else read.
 */
package io.saucr.services.core.journal;
