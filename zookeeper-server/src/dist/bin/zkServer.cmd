@echo off
rem Runs the server in this window until it is closed: zkServer.cmd [CONFIG-FILE]
setlocal
call "%~dp0zkEnv.cmd" || exit /b 1
if not "%~1"=="" set "ZOOCFG=%~1"
if not exist "%ZOO_LOG_DIR%\" mkdir "%ZOO_LOG_DIR%" || exit /b 1
"%JAVA%" "-Dzookeeper.log.dir=%ZOO_LOG_DIR%" "-Dzookeeper.log.file=%ZOO_LOG_FILE%" -Dsaucr.log.appender=CONSOLE -XX:+HeapDumpOnOutOfMemoryError "-XX:HeapDumpPath=%ZOO_LOG_DIR%" -XX:+ExitOnOutOfMemoryError -cp "%CLASSPATH%" %SERVER_JVMFLAGS% %JVMFLAGS% org.apache.zookeeper.server.quorum.QuorumPeerMain "%ZOOCFG%"
exit /b %ERRORLEVEL%
