package io.saucr.tests.ensemble;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.condition.EnabledIf;

/**
 * Its servers have disks that can be slow, fail or lose what was not forced; the C compiler of the
 * machine builds what is between them and the real one. Skipped where there is none.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@EnabledIf(value = "io.saucr.ensemble.FsyncShim#available", disabledReason = "no C compiler")
@interface NeedsCompiler {}
