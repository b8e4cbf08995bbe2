@echo off
rem Counts below a node: zkSnapshotRecursiveSummaryToolkit.cmd SNAPSHOT-FILE NODE MAX-DEPTH
setlocal
call "%~dp0zkEnv.cmd" || exit /b 1
"%JAVA%" -Dsaucr.log.level=WARN -cp "%CLASSPATH%" %JVMFLAGS% io.saucr.server.tool.SnapshotSummary %*
exit /b %ERRORLEVEL%
