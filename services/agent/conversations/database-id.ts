/**
 * The database of a binding that an id names: of a server the one called so, as libSQL servers tell their databases apart by the
 * name that is asked for; of a file the one of that name beside it. Undefined where an address has no room for a name.
 */
export const databaseAt = (binding: string, id: string): string | undefined => {
  if (binding.startsWith('file:')) return besideFile(binding, id)
  const server = new URL(binding)
  const name = `${id}.${server.hostname}`.toLowerCase()
  // An IP address stays as it is, or becomes nonsense.
  if (/^[\d.]+$|^\[/.test(server.hostname)) return undefined
  server.hostname = name
  return server.href
}

const besideFile = (binding: string, id: string): string => {
  const [path = '', ...query] = binding.split('?')
  const folder = path.slice(0, Math.max(path.lastIndexOf('/'), path.indexOf(':')) + 1)
  return [`${folder}${id}.db`, ...query].join('?')
}
