@echo off
rem The interactive client: zkCli.cmd [-server HOST:PORT,...] [COMMAND ...]
setlocal
call "%~dp0zkEnv.cmd" || exit /b 1
"%JAVA%" -Dsaucr.log.level=WARN -cp "%CLASSPATH%" %CLIENT_JVMFLAGS% %JVMFLAGS% org.apache.zookeeper.ZooKeeperMain %*
exit /b %ERRORLEVEL%
