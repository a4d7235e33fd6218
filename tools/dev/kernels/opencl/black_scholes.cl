float normal_cdf(float x) {
    float k = 1 / fma(0.2316419f, fabs(x), 1.0f);
    float poly = fma(fma(fma(fma(1.330274429f, k, -1.821255978f), k, 1.781477937f), k, -0.356563782f), k, 0.319381530f);
    float tail = 0.398942280f * exp(-0.5f * x * x) * (k * poly);
    return x < 0 ? tail : 1 - tail;
}

kernel void black_scholes(global const float* spot, global const float* strike, global const float* years, global float* calls,
                          global float* puts, float rate, float volatility, uint n) {
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) {
        float s = spot[i], x = strike[i], t = years[i];
        float spread = volatility * sqrt(t);
        float d1 = (log(s / x) + (rate + 0.5f * volatility * volatility) * t) / spread, d2 = d1 - spread;
        float n1 = normal_cdf(d1), n2 = normal_cdf(d2), discounted = x * exp(-rate * t);
        calls[i] = s * n1 - discounted * n2;
        puts[i] = discounted * (1 - n2) - s * (1 - n1);
    }
}
