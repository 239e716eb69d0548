const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const months = [
  ...["January", "February", "March", "April", "May", "June"],
  ...["July", "August", "September", "October", "November", "December"],
];

/**
 * C's `strftime` in the C locale, which llama-server runs in (the Jinja package would write in this machine's language).
 * @throws for what it does not know
 */
export function strftime(date: Date, format: string): string {
  const two = (value: number, pad = "0"): string => String(value).padStart(2, pad);
  const [day = "", month = ""] = [days[date.getDay()], months[date.getMonth()]];
  const hour = date.getHours() % 12 || 12;
  const parts: Readonly<Record<string, string>> = {
    ...{
      "%": "%",
      Y: String(date.getFullYear()),
      y: two(date.getFullYear() % 100),
      m: two(date.getMonth() + 1),
    },
    ...{ d: two(date.getDate()), e: two(date.getDate(), " "), A: day, a: day.slice(0, 3) },
    ...{ B: month, b: month.slice(0, 3), h: month.slice(0, 3), H: two(date.getHours()), I: two(hour) },
    ...{ M: two(date.getMinutes()), S: two(date.getSeconds()), p: date.getHours() < 12 ? "AM" : "PM" },
  };
  return format.replace(/%(.?)/gs, (_, letter: string) => {
    const part = parts[letter];
    if (part === undefined) throw new Error(`strftime_now: %${letter} is not known`);
    return part;
  });
}
