package io.saucr.server.requests;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.jute.Record;
import org.apache.zookeeper.DeleteContainerRequest;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.proto.AddWatchRequest;
import org.apache.zookeeper.proto.CheckVersionRequest;
import org.apache.zookeeper.proto.CheckWatchesRequest;
import org.apache.zookeeper.proto.CreateRequest;
import org.apache.zookeeper.proto.CreateTTLRequest;
import org.apache.zookeeper.proto.DeleteRequest;
import org.apache.zookeeper.proto.ExistsRequest;
import org.apache.zookeeper.proto.GetACLRequest;
import org.apache.zookeeper.proto.GetAllChildrenNumberRequest;
import org.apache.zookeeper.proto.GetChildren2Request;
import org.apache.zookeeper.proto.GetChildrenRequest;
import org.apache.zookeeper.proto.GetDataRequest;
import org.apache.zookeeper.proto.GetEphemeralsRequest;
import org.apache.zookeeper.proto.RemoveWatchesRequest;
import org.apache.zookeeper.proto.SetACLRequest;
import org.apache.zookeeper.proto.SetDataRequest;
import org.apache.zookeeper.proto.SyncRequest;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.txn.CreateContainerTxn;
import org.apache.zookeeper.txn.CreateTTLTxn;
import org.apache.zookeeper.txn.CreateTxn;
import org.apache.zookeeper.txn.DeleteTxn;
import org.apache.zookeeper.txn.MultiTxn;
import org.apache.zookeeper.txn.SetACLTxn;
import org.apache.zookeeper.txn.SetDataTxn;
import org.apache.zookeeper.txn.Txn;

/**
 * What a request that was served is about. For a request that has been decoded, or that has a
 * transaction, nothing is decoded again and nothing is allocated, but for the path of a {@code
 * multi}. Not for a request that another thread may decode meanwhile.
 */
final class RequestContent {
    private RequestContent() {}

    /** Its operation as ZooKeeper's messages name it, such as {@code setData}. */
    static String operation(int type) {
        String name = Request.op2String(type);
        return name.startsWith("unknown") ? "operation " + type : name;
    }

    /**
     * The node that it reads or writes, of a {@code multi} that of its first operation; null if it
     * has none or cannot be decoded.
     */
    static String path(Request request) {
        try {
            String written = pathOf(request.getTxn());
            return written == null ? pathOfRequest(request) : written;
        } catch (IOException | RuntimeException e) {
            // What a client has sent may be anything.
            return null;
        }
    }

    /** Bytes of the data that it writes, and of its answer if it reads. */
    static int bytes(Request request, boolean write) {
        if (write) {
            return written(request.getTxn());
        }
        return request.cnxn instanceof AnswerSize answered ? answered.newestAnswerBytes() : 0;
    }

    private static int written(Record txn) {
        if (txn instanceof SetDataTxn set) {
            return length(set.getData());
        }
        if (txn instanceof CreateTxn create) {
            return length(create.getData());
        }
        if (txn instanceof CreateContainerTxn create) {
            return length(create.getData());
        }
        if (txn instanceof CreateTTLTxn create) {
            return length(create.getData());
        }
        int sum = 0;
        if (txn instanceof MultiTxn multi) {
            for (Txn each : multi.getTxns()) {
                sum += length(each.getData());
            }
        }
        return sum;
    }

    private static int length(byte[] data) {
        return data == null ? 0 : data.length;
    }

    private static String pathOf(Record txn) {
        if (txn instanceof SetDataTxn set) {
            return set.getPath();
        }
        if (txn instanceof CreateTxn create) {
            return create.getPath();
        }
        if (txn instanceof DeleteTxn delete) {
            return delete.getPath();
        }
        if (txn instanceof CreateContainerTxn create) {
            return create.getPath();
        }
        if (txn instanceof CreateTTLTxn create) {
            return create.getPath();
        }
        if (txn instanceof SetACLTxn acl) {
            return acl.getPath();
        }
        if (txn instanceof MultiTxn multi) {
            for (Txn each : multi.getTxns()) {
                if (each.getType() != OpCode.error) {
                    return firstString(each.getData());
                }
            }
        }
        return null;
    }

    /** Each transaction of a {@code multi} begins with its path. */
    private static String firstString(byte[] data) {
        ByteBuffer bytes = ByteBuffer.wrap(data);
        byte[] text = new byte[Math.min(bytes.getInt(), bytes.remaining())];
        bytes.get(text);
        return new String(text, StandardCharsets.UTF_8);
    }

    private static String pathOfRequest(Request request) throws IOException {
        return switch (request.type) {
            case OpCode.getData -> request.readRequestRecord(GetDataRequest::new).getPath();
            case OpCode.exists -> request.readRequestRecord(ExistsRequest::new).getPath();
            case OpCode.getChildren -> request.readRequestRecord(GetChildrenRequest::new).getPath();
            case OpCode.getChildren2 ->
                    request.readRequestRecord(GetChildren2Request::new).getPath();
            case OpCode.getACL -> request.readRequestRecord(GetACLRequest::new).getPath();
            case OpCode.getAllChildrenNumber ->
                    request.readRequestRecord(GetAllChildrenNumberRequest::new).getPath();
            case OpCode.getEphemerals ->
                    request.readRequestRecord(GetEphemeralsRequest::new).getPrefixPath();
            case OpCode.sync -> request.readRequestRecord(SyncRequest::new).getPath();
            case OpCode.addWatch -> request.readRequestRecord(AddWatchRequest::new).getPath();
            case OpCode.checkWatches ->
                    request.readRequestRecord(CheckWatchesRequest::new).getPath();
            case OpCode.removeWatches ->
                    request.readRequestRecord(RemoveWatchesRequest::new).getPath();
            case OpCode.create, OpCode.create2, OpCode.createContainer ->
                    request.readRequestRecord(CreateRequest::new).getPath();
            case OpCode.createTTL -> request.readRequestRecord(CreateTTLRequest::new).getPath();
            case OpCode.delete -> request.readRequestRecord(DeleteRequest::new).getPath();
            case OpCode.deleteContainer ->
                    request.readRequestRecord(DeleteContainerRequest::new).getPath();
            case OpCode.setData -> request.readRequestRecord(SetDataRequest::new).getPath();
            case OpCode.setACL -> request.readRequestRecord(SetACLRequest::new).getPath();
            case OpCode.check -> request.readRequestRecord(CheckVersionRequest::new).getPath();
            default -> null;
        };
    }
}
