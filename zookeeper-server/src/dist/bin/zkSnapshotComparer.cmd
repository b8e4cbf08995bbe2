@echo off
rem Compares two snapshots: zkSnapshotComparer.cmd -l SNAPSHOT -r SNAPSHOT -b BYTES -n NODES [-d] [-i]
setlocal
call "%~dp0zkEnv.cmd" || exit /b 1
"%JAVA%" -Dsaucr.log.level=WARN -cp "%CLASSPATH%" %JVMFLAGS% org.apache.zookeeper.server.SnapshotComparer %*
exit /b %ERRORLEVEL%
