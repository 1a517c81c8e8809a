import java.nio.file.Path;
import org.neo4j.configuration.GraphDatabaseSettings;
import org.neo4j.configuration.connectors.BoltConnector;
import org.neo4j.configuration.connectors.HttpConnector;
import org.neo4j.configuration.helpers.SocketAddress;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;

/** A Neo4j server on a port of this machine: java -cp 'lib/*' Neo4jServer.java HOME PORT. Stops when its input ends. */
public class Neo4jServer {
    public static void main(String[] arguments) throws Exception {
        var address = new SocketAddress("localhost", Integer.parseInt(arguments[1]));
        new DatabaseManagementServiceBuilder(Path.of(arguments[0]))
                .setConfig(BoltConnector.enabled, true)
                .setConfig(BoltConnector.listen_address, address)
                .setConfig(BoltConnector.advertised_address, address)
                .setConfig(HttpConnector.enabled, false)
                .setConfig(GraphDatabaseSettings.auth_enabled, true)
                .build();
        System.out.println("ready");
        while (System.in.read() >= 0) {
            // The run that started the server holds its input open.
        }
        Runtime.getRuntime().halt(0); // its data is thrown away
    }
}
