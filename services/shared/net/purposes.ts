/** The purpose of a request to a guarded address; it decides which addresses are valid. */
export type RequestPurpose = 'database' | 'event-source' | 'model-gateway' | 'notification' | 'reemit' | 'tool-server'

interface UrlRules {
  protocols: readonly string[]
  /** Whether any port is allowed, including those of services with other protocols, such as mail or databases. */
  anyPort: boolean
}

/** The rules for URLs by purpose. */
export const urlRules: Readonly<Record<RequestPurpose, UrlRules>> = {
  database: { protocols: ['http:', 'https:'], anyPort: true },
  'event-source': { protocols: ['https:'], anyPort: false },
  'model-gateway': { protocols: ['http:', 'https:'], anyPort: false },
  notification: { protocols: ['http:', 'https:'], anyPort: false },
  reemit: { protocols: ['https:'], anyPort: false },
  'tool-server': { protocols: ['http:', 'https:'], anyPort: false },
}

/** Ports of mail, DNS, file transfer, remote shells, databases, queues and container control planes. */
const servicePorts: ReadonlySet<number> = new Set([
  20, 21, 22, 23, 25, 53, 69, 110, 111, 119, 123, 135, 137, 138, 139, 143, 161, 179, 389, 445, 465, 512, 513, 514, 515,
  548, 587, 636, 873, 993, 995, 1433, 1521, 2049, 2181, 2375, 2376, 2377, 2379, 2380, 3306, 3389, 4222, 5432, 5672,
  5900, 5984, 6379, 6443, 9000, 9009, 9042, 9092, 9200, 9300, 10250, 10255, 11211, 26379, 27017,
])

/** Returns whether the port of a URL belongs to a well-known service of another protocol. */
export const isServicePort = (port: string): boolean => servicePorts.has(Number(port))

/** SMTP and submission ports of mail servers, including common alternatives. */
const mailPorts: ReadonlySet<number> = new Set([25, 465, 587, 2465, 2525, 2587])

/** Returns whether a port is an SMTP or submission port. */
export const isMailPort = (port: number): boolean => mailPorts.has(port)
