// Returns more than a result may hold: the client gets a link to the whole.
return "x".repeat(200000);
