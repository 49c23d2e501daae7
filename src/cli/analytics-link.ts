import { connect } from "node:net";
import { disclosingCommandOf } from "../account/audit/note";
import { AnalyticsTokens, LINK_PERIODS, type LinkPeriod } from "../account/organization/analytics-tokens";
import { notedAddress } from "../platform/settings/noted-address";
import COMMANDS from "./commands.json";
import { command, existingOrganization, newKeys } from "./command";

const { usage: USAGE } = COMMANDS["cli/analytics-link"];
/** How long the server may take to accept a connection. */
const CONNECT_MS = 1_000;

/** Prints a link that opens the analytics page of the default organization, or of another one by its id. */
command(
  { usage: USAGE, options: ["organization", "days"] },
  async (database, { organization, days }, { created, settings }) => {
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
    const noted = settings.PUBLIC_BASE_URL === undefined ? await notedAddress(settings) : undefined;
    const origin = noted !== undefined && (await isParley(noted)) ? noted : new URL(link).origin;
    console.log(link.replace(new URL(link).origin, origin));
    console.error(
      (await isReachable(new URL(origin)))
        ? "Open it within 15 minutes. The page then stays signed in for up to 12 hours while it is open."
        : `No server answers at ${origin}. If it has other values of HOST and PORT, run this command with the same. Otherwise start it (npm start, or sudo systemctl start parley if systemd starts it), then open the link within 15 minutes.`,
    );
  },
);

/** Whether a server of this program answers: after a crash, another program may use the noted address. */
async function isParley(url: string): Promise<boolean> {
  const options = { headers: { Accept: "application/json" }, signal: AbortSignal.timeout(CONNECT_MS) };
  const answer = await fetch(url, options)
    .then((response) => response.json() as unknown)
    .catch(() => undefined);
  return (answer as { openapi?: unknown } | null | undefined)?.openapi === "/rest/openapi.json";
}

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
