import { connect } from "node:net";
import { disclosingCommandOf } from "../account/audit/note";
import { AnalyticsTokens, LINK_PERIODS, type LinkPeriod } from "../account/organization/analytics-tokens";
import COMMANDS from "./commands.json";
import { command, existingOrganization, newKeys } from "./command";

const { usage: USAGE } = COMMANDS["cli/analytics-link"];
/** How long the server may take to accept a connection. */
const CONNECT_MS = 1_000;

/** Prints a link that opens the analytics page of the default organization, or of another one by its id. */
command(
  { usage: USAGE, options: ["organization", "days"] },
  async (database, { organization, days }, { created }) => {
    if (days !== undefined && !isPeriod(days))
      throw new Error(`--days must be one of ${LINK_PERIODS.join(", ")}; got "${days}".\nUsage: ${USAGE}`);
    if (created) console.error(newKeys(created));
    const organizationId = await existingOrganization(database, organization);
    const scope = database
      .scope(organizationId)
      .audited(disclosingCommandOf("analytics:link", organizationId, "analyticUrl"));
    const link = await scope.of(AnalyticsTokens).operatorLink(days);
    if (link === undefined)
      throw new Error(
        "A link needs an active SECRET key without limits. Create one: npm run --silent key:create",
      );
    await scope.storeEntry();
    console.log(link);
    const { origin } = new URL(link);
    console.error(
      (await isReachable(new URL(origin)))
        ? "Open it within 15 minutes. The page then stays signed in for up to 12 hours while it is open."
        : `No server answers at ${origin}. Start it (npm start, or sudo systemctl start parley if systemd starts it), then open the link within 15 minutes.`,
    );
  },
);

const isPeriod = (days: string): days is LinkPeriod => (LINK_PERIODS as readonly string[]).includes(days);

const isReachable = ({ protocol, hostname, port }: URL): Promise<boolean> =>
  new Promise((resolve) => {
    const host = hostname.replace(/^\[|\]$/g, "");
    const socket = connect({ host, port: Number(port) || (protocol === "https:" ? 443 : 80) });
    const end = (reachable: boolean) => {
      socket.destroy();
      resolve(reachable);
    };
    socket.setTimeout(CONNECT_MS, () => end(false));
    socket.once("connect", () => end(true)).once("error", () => end(false));
  });
