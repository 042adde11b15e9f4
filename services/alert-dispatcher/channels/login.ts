/** Who asks, as the address of a service says it. */
export interface Login {
  user: string
  pass: string
}

/** User and password that stand in an address; empty where there are none. */
export const loginIn = ({ username, password }: URL): Login => ({ user: decoded(username), pass: decoded(password) })

/** A part of an address as it was meant: passwords are pasted as they are, percent signs and all. */
export const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
