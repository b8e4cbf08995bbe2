@echo off
rem Prints a snapshot: zkSnapShotToolkit.cmd [-d|-json] SNAPSHOT-FILE
setlocal
call "%~dp0zkEnv.cmd" || exit /b 1
"%JAVA%" -Dsaucr.log.level=WARN -cp "%CLASSPATH%" %JVMFLAGS% org.apache.zookeeper.server.SnapshotFormatter %*
exit /b %ERRORLEVEL%
