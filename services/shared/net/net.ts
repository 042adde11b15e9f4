import type { Agent } from 'undici'
import type { Environment } from '../config/environment.ts'
import type { Connector } from './connect.ts'
import { type Dialer, type ServerAddress, checkMailServer, dial, createGuardedDial } from './dial.ts'
import { NetFailure } from './failure.ts'
import {
  type AddressGuard,
  type LookupOptions,
  areLocalCallersTrusted,
  arePrivateHostsAllowed,
  openAddressGuard,
} from './guard.ts'
import type { RequestPurpose } from './purposes.ts'
import type { OutgoingRequest } from './send.ts'

/** A function like `fetch` with limits and without redirects; rejects with `NetFailure`. */
export type RequestSender = (url: string | URL, outgoing?: OutgoingRequest) => Promise<Response>

/**
 * The client for external servers. It limits every request and checks user-supplied addresses, so all outgoing requests
 * use it.
 */
export interface Net extends AsyncDisposable {
  /** Sends requests to addresses that the operator configured. */
  trusted: RequestSender
  /** Sends requests to user-supplied addresses: each is checked, and the connection goes to the checked address. */
  guarded(purpose: RequestPurpose): RequestSender
  /** Checks an address without connecting to it, for example before it is saved. Returns its canonical form. */
  check(url: string | URL, purpose: RequestPurpose): Promise<URL>
  /** Connects to mail servers: `trusted` to those that the operator configured, `guarded` to user-supplied ones. */
  mail: { trusted: Dialer; guarded: Dialer; check(server: ServerAddress): Promise<void> }
  /** Opens sockets for the connection pools of user-supplied databases. */
  connect: Connector
  /** The same for addresses of callers on this machine, which may be private if `areLocalCallersTrusted`. */
  local: Pick<Net, 'guarded' | 'check' | 'connect'> & { mail: Pick<Net['mail'], 'guarded' | 'check'> }
}

interface NetOptions extends LookupOptions {
  env: Environment
}

/** Creates the clients without opening a connection; the HTTP client is loaded on first use. */
export const openNet = ({ env, ...lookUp }: NetOptions): Net => {
  const guard = openAddressGuard(env, lookUp)
  const isLocalAllowed = () => arePrivateHostsAllowed(env) || areLocalCallersTrusted(env)
  const localGuard = openAddressGuard(env, lookUp, isLocalAllowed)
  const agents: Agent[] = []
  let opening: ReturnType<typeof openClients> | undefined
  const loaded = () => (opening ??= openClients({ guarded: guard, local: localGuard }, agents))
  const atAddresses = (allowed: AddressGuard, name: GuardName): Pick<Net, 'guarded' | 'check' | 'connect'> => ({
    guarded:
      (purpose) =>
      async (url, outgoing = {}) => {
        const target = allowed.readUrl(url, purpose)
        const clients = await loaded()
        return clients.send(clients[name].agent, target, outgoing)
      },
    check: createCheck(allowed),
    connect: (options, connected) => {
      loaded().then(
        (clients) => clients[name].connect(options, connected),
        (error: Error) => connected(error, null),
      )
    },
  })

  return {
    trusted: async (url, outgoing = {}) => {
      const { send, trusted } = await loaded()
      return send(trusted, readTrusted(url), outgoing)
    },
    ...atAddresses(guard, 'guarded'),
    mail: { trusted: dial, ...guardMail(guard) },
    local: { ...atAddresses(localGuard, 'local'), mail: guardMail(localGuard) },
    async [Symbol.asyncDispose]() {
      await opening?.catch(() => undefined)
      await Promise.all(agents.map((agent) => agent.destroy()))
    },
  }
}

const createCheck =
  (guard: AddressGuard): Net['check'] =>
  async (url, purpose) => {
    const target = guard.readUrl(url, purpose)
    await guard.addresses(target.hostname)
    return target
  }

const guardMail = (guard: AddressGuard): Pick<Net['mail'], 'guarded' | 'check'> => ({
  guarded: createGuardedDial(guard),
  check: (server) => checkMailServer(guard, server),
})

/** The guards: for all callers, and for callers on this machine. */
type GuardName = 'guarded' | 'local'

/** Creates the HTTP clients and adds their pools to `agents`, which the caller closes. */
const openClients = async (guards: Record<GuardName, AddressGuard>, agents: Agent[]) => {
  const [{ Agent }, { send }, connectors] = await Promise.all([
    import('undici'),
    import('./send.ts'),
    import('./connect.ts'),
  ])
  const open = (connect: Connector, connections: number): Agent => {
    const agent = new Agent({ connect, connections, keepAliveTimeout: keepAliveMs, allowH2: false })
    agents.push(agent)
    return agent
  }
  const openGuarded = (guard: AddressGuard) => {
    const connect = connectors.createGuardedConnector(guard)
    return { connect, agent: open(connect, maxGuardedConnections) }
  }
  return {
    send,
    trusted: open(connectors.createUnguardedConnector(), maxTrustedConnections),
    guarded: openGuarded(guards.guarded),
    local: openGuarded(guards.local),
  }
}

/** Maximum connections per configured server. Each answer that a language model is generating needs one. */
const maxTrustedConnections = 1_024
const maxGuardedConnections = 16
const keepAliveMs = 4_000

/** Parses a configured address, which may be private but must not contain credentials. */
const readTrusted = (given: string | URL): URL => {
  const url = URL.parse(String(given))
  if (!url) throw new NetFailure('not-allowed', { rule: 'url' })
  const { hostname: host, protocol, username, password } = url
  if (protocol !== 'http:' && protocol !== 'https:') throw new NetFailure('not-allowed', { host, rule: 'scheme' })
  if (username !== '' || password !== '') throw new NetFailure('not-allowed', { host, rule: 'userinfo' })
  return url
}
