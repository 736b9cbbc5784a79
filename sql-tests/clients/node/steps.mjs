// What the scripts share: where the server is, and steps that print what they give.

export const url = process.env.DATABASE_URL

export function text(error) {
  const cause = error.cause?.code ? error.cause : error.driverError ?? error
  return `${cause.code}: ${cause.message}`
}

export async function step(name, work) {
  try {
    console.log(name, JSON.stringify(await work()))
  } catch (error) {
    console.log(name, 'FAILED', text(error))
  }
}

// The error that a promise is rejected with.
export async function refused(promise) {
  try {
    return await promise
  } catch (error) {
    return text(error)
  }
}
