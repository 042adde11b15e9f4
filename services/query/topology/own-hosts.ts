import { isIP } from 'node:net'

/** How a cluster calls one of its replicas. */
interface Called {
  host: string
  address: string
  isLocal: boolean
}

/** A host of the host list: the name in its URL, and how it calls itself as far as it was asked. */
export interface Named {
  key: string
  names: readonly string[]
}

/**
 * The keys of the replicas of one cluster that are hosts of the list; null where none is, or several could be meant. `asked` is
 * the host that told of the cluster. Names count whole first and then without their domain, since clusters tend to name
 * machines as they call one another, and host lists as they are reached from outside.
 */
export const ownHosts = (replicas: readonly Called[], asked: string, hosts: readonly Named[]): (string | null)[] => {
  const claims = replicas.map((replica) => (replica.isLocal ? asked : claim(replica, hosts)))
  return claims.map((key, index) => {
    const isSure = replicas[index]?.isLocal || claims.indexOf(key) === claims.lastIndexOf(key)
    return isSure ? key : null
  })
}

const claim = (replica: Called, hosts: readonly Named[]): string | null => {
  const names = new Set([replica.host, replica.address].filter(namesOneMachine).map(lowered))
  const calledSo = hosts.filter((host) => host.names.some((name) => names.has(lowered(name))))
  if (calledSo.length > 0) return onlyOne(calledSo)
  const labels = new Set([...names].flatMap(label))
  return onlyOne(
    hosts.filter((host) =>
      host.names
        .map(lowered)
        .flatMap(label)
        .some((each) => labels.has(each)),
    ),
  )
}

const onlyOne = (hosts: readonly Named[]): string | null => (hosts.length === 1 ? (hosts[0]?.key ?? null) : null)
const lowered = (name: string): string => name.toLowerCase()
/** A name without its domain; an address has none. */
const label = (name: string): string[] => (isIP(name) === 0 ? name.split('.').slice(0, 1) : [])
/** Everybody is `localhost`. */
const namesOneMachine = (name: string): boolean =>
  !/^(|localhost|127\..*|::1|::ffff:127\..*|0\.0\.0\.0|::)$/i.test(name)
