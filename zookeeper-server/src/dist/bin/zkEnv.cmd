@echo off
rem Environment of the other command files; they call this one. The variables are those of zkEnv.sh.
for %%i in ("%~dp0..") do set "ZOOKEEPER_PREFIX=%%~fi"
if not defined ZOOCFGDIR set "ZOOCFGDIR=%ZOOKEEPER_PREFIX%\conf"
if not defined ZOOCFG set "ZOOCFG=%ZOOCFGDIR%\zoo.cfg"
if not defined ZOO_LOG_DIR set "ZOO_LOG_DIR=%ZOOKEEPER_PREFIX%\logs"
if not defined ZOO_LOG_FILE set "ZOO_LOG_FILE=zookeeper-%USERNAME%-server-%COMPUTERNAME%.log"
if not defined ZK_SERVER_HEAP set "ZK_SERVER_HEAP=1000"
if not defined ZK_CLIENT_HEAP set "ZK_CLIENT_HEAP=256"
set "SERVER_JVMFLAGS=-Xmx%ZK_SERVER_HEAP%m -XX:PerfDataSamplingInterval=1000 %SERVER_JVMFLAGS%"
set "CLIENT_JVMFLAGS=-Xmx%ZK_CLIENT_HEAP%m %CLIENT_JVMFLAGS%"

rem No blocks in parentheses from here on: the name of a folder may hold some.
set "OWN_CLASSES=%ZOOKEEPER_PREFIX%\lib\*"
if defined CLASSPATH set "OWN_CLASSES=%CLASSPATH%;%OWN_CLASSES%"
set "CLASSPATH=%ZOOCFGDIR%;%OWN_CLASSES%"

set "JAVA=java"
if not defined JAVA_HOME exit /b 0
set "JAVA=%JAVA_HOME:"=%\bin\java.exe"
if exist "%JAVA%" exit /b 0
echo Error: JAVA_HOME is %JAVA_HOME%, but there is no program bin\java.exe in it. 1>&2
exit /b 1
