@echo off
rem Prints and mends transaction logs: zkTxnLogToolkit.cmd [-dhrvy] TXN-LOG-FILE
setlocal
call "%~dp0zkEnv.cmd" || exit /b 1
"%JAVA%" -Dsaucr.log.level=WARN -cp "%CLASSPATH%" %JVMFLAGS% org.apache.zookeeper.server.persistence.TxnLogToolkit %*
exit /b %ERRORLEVEL%
